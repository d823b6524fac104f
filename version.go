package duly

// Version is the program's version; the release build sets it.
var Version = "dev"
