# the public names, for type checkers and at run time alike
