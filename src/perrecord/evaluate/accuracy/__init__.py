"""How far the answers of a workload will be from the true numbers, cell by cell and summed up."""
