/** Asks for a passphrase without echoing it, or reads it as a line from a pipe. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Refusal } from '../../errors.ts'

/** An attacker with a stolen backup can try passphrases offline and finds short passphrases quickly. */
const MIN_CHARACTERS = 12

/** Reads one line of standard input, with a prompt on a terminal. @throws Refusal 400 `stopped` at the end of input. */
export async function askPassphrase(question: string): Promise<string> {
  const isTerminal = process.stdin.isTTY === true
  if (isTerminal) process.stderr.write(`${question}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: isTerminal })
  try {
    for await (const line of lines) return line
  } finally {
    lines.close()
    if (isTerminal) process.stderr.write('\n')
  }
  throw new Refusal(400, 'stopped', 'no passphrase was entered')
}

/** A new passphrase, entered twice on a terminal. @throws Refusal 400 if it is too short or the two differ. */
export async function askNewPassphrase(): Promise<string> {
  const passphrase = await askPassphrase('Passphrase')
  if (passphrase.length < MIN_CHARACTERS)
    throw new Refusal(
      400,
      'weak_passphrase',
      `the passphrase must have at least ${MIN_CHARACTERS} characters`,
    )
  if (process.stdin.isTTY && (await askPassphrase('Repeat the passphrase')) !== passphrase)
    throw new Refusal(400, 'different_passphrases', 'the two passphrases differ')
  return passphrase
}
