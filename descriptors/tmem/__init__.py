"""Tensor memory of Blackwell: addresses, allocation, what lies in which cell, and how it gets there and back."""

#: The open modules of this wing, and what they give other wings. From its other modules, other wings import only the
#: public names of `descriptors`.
INTERFACE = {
    "accumulator": "the data path of an accumulator",
    "accumulator_model": "the model of accumulators",
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
