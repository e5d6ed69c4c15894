package cores
