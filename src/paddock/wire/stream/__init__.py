"""The TCP stream: binary frames (one module per kind of content) and the splitter of a socket that carries JSON too."""
