"""Pictures of answers, and the explorer that shows them in a browser."""

#: The modules of this wing that other wings may import from, with what they provide. From the other modules of this
#: wing, other wings import only the public names of `descriptors`.
INTERFACE = {
    "browser.folder": "the files of a site as a folder",
    "browser.reply": "JSON answers to the questions of a page",
    "explorer.page": "the explorer as one file",
    "explorer.question": "the state of the explorer, parsed and checked",
    "explorer.server": "the explorer as a server or as a site",
    "pictures.kinds": "the kinds of pictures, and galleries",
    "pictures.round_picture": "the picture of barrier phases, which a command imports without the others",
    "pictures.shift_picture": "the picture of a shift convolution, which a command imports without the others",
    "pictures.tile_picture": "the color modes of the picture of a tile",
    "stages.view": "the color modes of the explorer",
}
