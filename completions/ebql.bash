# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# For bash: the words that ebql itself tells (help, tools, list).

_ebql_help() { # PATTERN [NAME]: what of the help, and of that subcommand's, matches it
	{ ebql help && [[ ! $2 ]] || ebql "$2" --help; } 2>/dev/null </dev/null | grep -oE -- "$1"
}

_ebql() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=''
	# A colon parts words in bash: a stream's name is all of them.
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n : -c word -p before
	fi
	case $before in
	-o | --output) words='table expanded line json csv heatmap arrow folded flamegraph jsonl' ;;
	describe | list | survey) # by any part of their names
		mapfile -t COMPREPLY < <(ebql list "$word" 2>/dev/null)
		[[ ! $(declare -F __ltrim_colon_completions) ]] || __ltrim_colon_completions "$word"
		return
		;;
	tools) words=$(ebql tools 2>/dev/null | cut -d ' ' -f 1) ;;
	*)
		if [[ $word == -* ]]; then
			words=$(_ebql_help '(^|[[ (])--?[a-z]+(-[a-z]+)*' "${COMP_WORDS[1]}" |
				tr -d ' ([' | sort -u)
		elif [[ $COMP_CWORD == 1 ]]; then
			words="$(_ebql_help '(ebql|\|) [a-z]+' | cut -d ' ' -f 2 | sort -u) $(
				ebql tools 2>/dev/null | cut -d ' ' -f 1)"
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	[[ ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _ebql ebql
