# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# For fish: the words that ebql itself tells (help, tools, list).

function __ebql_options
    begin
        ebql help
        ebql (commandline -opc)[2] --help
    end 2>/dev/null </dev/null | string match -rag -- '(?:^|[[ (])(--?[a-z]+(?:-[a-z]+)*)'
end
function __ebql_commands
    ebql help 2>/dev/null | string match -rag -- '(?:ebql|\|) ([a-z]+)'
end
function __ebql_tools
    ebql tools 2>/dev/null | string replace -r ' +' \t
end
complete -c ebql -n 'string match -q -- "-*" (commandline -ct)' -a '(__ebql_options)'
complete -c ebql -n __fish_use_subcommand -a '(__ebql_commands; __ebql_tools)'
complete -c ebql -n '__fish_seen_subcommand_from describe list survey' -a '(ebql list (commandline -ct) 2>/dev/null)'
complete -c ebql -n '__fish_seen_subcommand_from tools' -a '(__ebql_tools)'
complete -c ebql -s o -l output -x -a 'table expanded line json csv heatmap arrow folded flamegraph jsonl'
