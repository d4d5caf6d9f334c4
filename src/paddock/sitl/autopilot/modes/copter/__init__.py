"""The modes of copters, one file each, and the manoeuvres that several of them share."""
