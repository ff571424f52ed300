"""What is wrong with a kernel, or with the order in which it uses tensor memory: PTX read, one protocol, its rules."""
