/** The entry point: runs a command, or the task of a child process. */
import { CHILD_FLAG } from './program/children.ts'

async function main(argv: string[]): Promise<void> {
  if (argv[0] === CHILD_FLAG) {
    const { runChild } = await import('./children.ts')
    return runChild(argv.slice(1))
  }
  const { runCli } = await import('./cli/cli.ts')
  return runCli(argv)
}

void main(process.argv.slice(2))
