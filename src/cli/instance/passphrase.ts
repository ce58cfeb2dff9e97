/** Asks for a passphrase without showing it; a pipe gives it as a line. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Refusal } from '../../errors.ts'

/** A stolen backup can be attacked offline, so that a short passphrase is soon guessed. */
const MIN_CHARACTERS = 12

/** One line of standard input, asked for on a terminal. @throws Refusal 400 `stopped` when there is none. */
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

/** A passphrase to encrypt with, on a terminal entered twice. @throws Refusal 400 when it is too short or entered differently. */
export async function askNewPassphrase(): Promise<string> {
  const passphrase = await askPassphrase('Passphrase')
  if (passphrase.length < MIN_CHARACTERS)
    throw new Refusal(400, 'weak_passphrase', `a passphrase has at least ${MIN_CHARACTERS} characters`)
  if (process.stdin.isTTY && (await askPassphrase('The same again')) !== passphrase)
    throw new Refusal(400, 'different_passphrases', 'the two passphrases differ')
  return passphrase
}
