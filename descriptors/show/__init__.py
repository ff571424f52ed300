"""Pictures of answers, and the explorer that shows them in a browser."""

#: The open modules of this wing, and what they give other wings. From its other modules, other wings import only the
#: public names of `descriptors`.
INTERFACE = {
    "browser.folder": "a site of pages as a folder",
    "browser.reply": "questions of a page and their answers",
    "explorer.page": "the explorer as one file",
    "explorer.question": "what the explorer is asked",
    "explorer.server": "the explorer as a server or as a site",
    "pictures.kinds": "the kinds of pictures, and galleries",
    "pictures.round_picture": "one picture, which a command imports without the others",
    "pictures.shift_picture": "one picture, which a command imports without the others",
    "pictures.tile_picture": "the colors of a tile's picture",
    "stages.view": "the colors of the explorer",
}
