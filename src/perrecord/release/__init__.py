"""What is published beside the answers: the policy as a document and as a page."""
