"""The builder of the course: pages, slides, a handout, a card, notebooks, the teacher's page, papers; one folder."""
