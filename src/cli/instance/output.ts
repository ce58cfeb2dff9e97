/**
 * What a command prints: text for people, or with `--json` one document for programs. The document is the answer of the
 * server as it is, with the names of the API, or what the command sets with `setResult`.
 */
import { stripVTControlCharacters } from 'node:util'
import { withCommands } from '../../program/form.ts'

const output: { isJson: boolean; result: unknown } = { isJson: false, result: {} }

/** Makes the command print one JSON document instead of text. */
export function useJson(): void {
  output.isJson = true
}

/** Whether `--json` was given. */
export const isJson = (): boolean => output.isJson

/** Sets the document that `--json` prints. A later call replaces it. */
export function setResult(result: unknown): void {
  output.result = result ?? {}
}

/** Prints a line of text for people; nothing with `--json`. */
export function print(text: string): void {
  if (!output.isJson) process.stdout.write(`${text}\n`)
}

/**
 * Prints to stderr, for the person at the terminal and not for programs that read the output. Nothing with `--json`.
 * Commands such as `windfall reload` are written as this form of the program runs them.
 */
export function printError(text: string): void {
  if (!output.isJson) process.stderr.write(`${withCommands(text)}\n`)
}

/** Prints the document, if `--json` was given. */
export function printResult(): void {
  if (output.isJson) process.stdout.write(`${JSON.stringify(output.result)}\n`)
}

/** Prints an error as JSON to stderr: its code and message, and the faults of single fields. */
export function printJsonError(error: { code: string; message: string; errors?: readonly unknown[] }): void {
  process.stderr.write(`${JSON.stringify({ error })}\n`)
}

/** Writes a line. Colors are for terminals only. */
export const writeTo = (stream: NodeJS.WriteStream, text: string): void =>
  void stream.write(`${stream.isTTY ? text : stripVTControlCharacters(text)}\n`)
