"""Lessons, their exercises, and the judges of answers."""

#: The modules of this wing that other wings may import, with what they provide. From its other modules, other wings
#: import only the public names of `descriptors`.
INTERFACE = {
    "card": "the card of the notation",
    "catalog": "the lessons on disk, and each exercise by its number",
    "grading": "the verdict on an answer",
    "lesson_text": "lessons as text",
    "progress": "the progress of a student",
    "source": "lessons and exercises, parsed",
    "workbook": "a student's file",
}
