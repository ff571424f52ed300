"""Who says what of an answer in a paper is wrong? Judges that no lesson needs, whatever numbers the seed drew."""
