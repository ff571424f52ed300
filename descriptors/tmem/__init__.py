"""Blackwell tensor memory: addresses, allocation, layouts of operands in its cells, and copies to and from it."""

#: The modules of this wing from which other wings may import, and what they provide. From its other modules, other
#: wings import only the public names of `descriptors`.
INTERFACE = {
    "accumulator": "the data path of an accumulator",
    "accumulator_model": "the model of accumulators",
    "allocations": "the effect of alloc and dealloc on the allocated columns",
    "block_scaled": "the arguments of a block-scaled multiplication",
    "columns": "the parts of a column plan",
    "copy_text": "copies as text",
    "geometry": "lanes, columns and addresses",
    "landing_model": "the model of tcgen05.cp",
    "moves": "the widths of tcgen05.ld and tcgen05.st",
    "readout": "the loads of an accumulator",
    "scale_model": "the model of scale factors",
    "shift_steps": "the steps of a convolution by shifts",
    "shift_text": "a convolution by shifts as text",
    "shift_views": "convolutions that need views",
}
