"""What a script can be: one file each, whose class Role has a method per operation."""
