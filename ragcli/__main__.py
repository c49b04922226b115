"""Run ragcli as a module, the same as the `ragcli` command."""

from ragcli.cli.app import main

if __name__ == "__main__":
    main()
