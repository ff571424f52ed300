"""Check kernels: parse PTX, and verify instruction forms, descriptors, protocols and an execution of each kernel."""

#: The open modules of this wing, and what they give other wings. From its other modules, other wings import only the
#: public names of `descriptors`.
INTERFACE = {
    "baseline": "findings that are known and accepted",
    "events": "the events of the protocol",
    "execution.configuration": "the launch of each kernel",
    "execution.program": "the parameters of a kernel",
    "execution.rings": "the rings of mbarriers",
    "execution.rounds": "one run of a ring, phase by phase",
    "kernel_report": "the report on a kernel",
    "kernel_text": "reports and stories of kernels as text",
    "pipeline": "the pipeline of a kernel",
    "ptx.ptx_module": "a PTX text, parsed",
    "rules": "the rules of the checker",
    "sarif": "reports as SARIF",
    "sequence": "the protocol applied to a sequence of events",
    "warp_multiplications": "the rules of mma.sync",
}
