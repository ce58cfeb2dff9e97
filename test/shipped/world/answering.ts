/** What a process of the world around the server has: it answers the questions of the process that started it. */

/** The functions that the other process may call. Each takes one value. */
export type Questions = Record<string, (args: never) => unknown>
/** A question, and its answer. */
export type Question = { id: number; name: string; args: unknown }
export type Answered = { id: number; value?: unknown; error?: string }

const send = (message: Answered | 'ready'): void => void process.send?.(message)

/** Answers from now on. The process ends when the one that started it does. */
export function answer(questions: Questions): void {
  process.on('disconnect', () => process.exit())
  process.on('message', ({ id, name, args }: Question) => {
    Promise.resolve()
      .then(() => questions[name]?.(args as never))
      .then(
        (value) => send({ id, value }),
        (error: unknown) => send({ id, error: error instanceof Error ? String(error.stack) : String(error) }),
      )
  })
  send('ready')
}

/** The arguments that the process was started with. */
export const givenArguments = <Args>(): Args => JSON.parse(process.argv[2] ?? 'null')
