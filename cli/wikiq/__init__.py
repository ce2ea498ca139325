"""The reader: a typed library over an index that `indexerd` keeps, with a command on top."""
