/** The completion of commands in real shells. Skipped for a shell that is not installed. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { folderOf, run } from '../../processes.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

const isInstalled = (shell: Shell): boolean => spawnSync(shell, ['--version']).status === 0

const cwd = folderOf({ 'backup.tar': '', 'other.txt': '' })

beforeAll(async () => {
  for (const shell of SHELLS) {
    const { stdout, stderr, status } = await run(['completion', shell], { cwd })
    expect([status, stderr]).toEqual([0, ''])
    writeFileSync(join(cwd, `windfall.${shell}`), stdout)
  }
})

/** For each argument, a command line whose last word is being typed: what bash offers, then a line of its own. */
const BASH = `source windfall.bash
for line in "$@"; do
  IFS=' ' read -ra COMP_WORDS <<< "$line"
  case "$line" in *' ') COMP_WORDS+=('') ;; esac
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _windfall
  printf '%s\\n' "\${COMPREPLY[@]}" '=='
done`

const FISH = `source windfall.fish
for line in $argv; complete -C $line; echo '=='; end`

/** Presses tab in an interactive zsh. Prints what is displayed, and then the command line in LINE<>. */
const ZSH = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -Uz compinit; compinit -C -D; source windfall.zsh
show() { print -r \\"LINE<\\$BUFFER>\\" }; zle -N show; bindkey '^X' show; echo RE''ADY"
zpty -r shell seen '*READY*'
for line in "$@"; do
  # ^U deletes the line of the iteration before.
  zpty -w -n shell $'\\x15'"$line"$'\\t\\x18'
  zpty -r shell seen '*LINE<*>*'
  print -r -- "$seen"; print '=='
done`

function runShell(shell: Shell, script: string, lines: readonly string[] = []): string {
  const args = shell === 'fish' ? ['-c', script, ...lines] : ['-c', script, shell, ...lines]
  const { stdout, stderr, status } = spawnSync(shell, args, { cwd, encoding: 'utf8', timeout: 60_000 })
  expect([stderr, status]).toEqual(['', 0])
  return stdout
}

/** What a shell offers for each command line. */
const offersOf = (shell: 'bash' | 'fish', lines: readonly string[]): Record<string, string[]> => {
  const answers = runShell(shell, shell === 'bash' ? BASH : FISH, lines).split(/^==\n/m)
  return Object.fromEntries(
    lines.map((line, index) => {
      const offers = (answers[index] ?? '').split('\n').filter((offer) => offer !== '')
      return [line, offers.map((offer) => offer.split('\t')[0] ?? '').sort()]
    }),
  )
}

const OFFERS: Record<string, string[]> = {
  'windfall re': ['rebuild', 'reconcile', 'refused', 'reload', 'restore'],
  'windfall apps ': ['add', 'list', 'refresh', 'remove'],
  'windfall apps r': ['refresh', 'remove'],
  'windfall apps frobnicate a': [],
  'windfall jobs --': ['--config', '--help', '--json'],
  'windfall backup copy.tar --p': ['--passphrase', '--plain'],
  // Not the options of `windfall import`.
  'windfall rates import --d': [],
  'windfall rates import --b': ['--base'],
  'windfall webhooks add https://a.example --no': ['--no-test'],
  'windfall keys create --label x --se': ['--secret'],
  'windfall completion ': ['bash', 'fish', 'zsh'],
}

describe.skipIf(!isInstalled('bash'))('bash (skipped if it is not installed)', () => {
  test('offers commands, options and values', () => {
    expect(offersOf('bash', Object.keys(OFFERS))).toEqual(OFFERS)
  })

  test('leaves the values of options and the files of commands to bash, which completes files', () => {
    const lines = ['windfall verify ', 'windfall serve --config ']
    expect(Object.values(offersOf('bash', lines))).toEqual([[], []])
    const registered = runShell('bash', 'source windfall.bash; complete -p windfall')
    expect(registered).toBe('complete -o default -F _windfall windfall\n')
  })
})

describe.skipIf(!isInstalled('fish'))('fish (skipped if it is not installed)', () => {
  test('offers commands, options, values and files', () => {
    const offers = {
      ...OFFERS,
      'windfall verify b': ['backup.tar'],
      'windfall verify --identity b': ['backup.tar'],
      'windfall keys create b': [],
    }
    expect(offersOf('fish', Object.keys(offers))).toEqual(offers)
  })
})

describe.skipIf(!isInstalled('zsh'))('zsh (skipped if it is not installed)', () => {
  test('completes commands, options, values and files, and lists commands with their descriptions', () => {
    const completions = {
      'windfall apps a': 'windfall apps add ',
      'windfall rates import --b': 'windfall rates import --base ',
      'windfall rates import --d': 'windfall rates import --d',
      'windfall verify b': 'windfall verify backup.tar ',
      'windfall serve --config o': 'windfall serve --config other.txt ',
      'windfall completion z': 'windfall completion zsh ',
      'windfall apps ': 'windfall apps ',
    }
    const lines = Object.keys(completions)
    const answers = runShell('zsh', ZSH, lines).split(/^==\n/m)
    const lineIn = (answer = ''): string | undefined => /LINE<(.*?)>/.exec(answer)?.[1]
    expect(Object.fromEntries(lines.map((line, index) => [line, lineIn(answers[index])]))).toEqual(
      completions,
    )
    for (const text of ['add      -- Add or update an app', 'refresh  -- Fetch the list'])
      expect(answers[lines.length - 1]).toContain(text)
  })
})

test('refuses another shell', async () => {
  const { status, stderr } = await run(['completion', 'tcsh'], { cwd })
  expect([status, stderr]).toEqual([2, 'there is no completion for tcsh; choose bash, zsh, fish\n'])
})
