"""Who says what of an answer in a paper is wrong, whatever numbers the seed drew?"""
