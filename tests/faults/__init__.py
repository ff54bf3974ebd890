"""Faults and load: kill -9, failing disks, loss of power, damaged ledgers, crowds of processes."""
