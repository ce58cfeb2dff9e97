/** Starts a separate process, so that load and server share no event loop and no garbage collection. */
import { type ChildProcess, fork } from 'node:child_process'

export type Child = ReturnType<typeof openChild>

/**
 * Starts `file` of this folder. `ask` sends it one question and resolves with its answer, one at a time; it rejects
 * when the process ends instead.
 */
export function openChild(file: string, execArgv: readonly string[] = []) {
  const process = fork(new URL(file, import.meta.url), [], {
    execArgv: [...execArgv],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => process.once('exit', () => resolve()))

  async function close(): Promise<void> {
    if (process.connected) process.disconnect()
    await ended
  }

  return {
    pid: process.pid ?? 0,
    request: <Answer>(question: object) => answerOf<Answer>(process, file, question),
    close,
  }
}

function answerOf<Answer>(process: ChildProcess, file: string, question: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null) => reject(new Error(`${file} ended with ${code} instead of answering`))
    process.once('exit', fail)
    process.once('message', (answer) => {
      process.off('exit', fail)
      resolve(answer as Answer)
    })
    process.send(question)
  })
}

/** The child's side: `answer` is called with each question. The process ends when its parent lets go of it. */
export function answerRequests<Question>(
  answer: (question: Question) => Promise<object>,
  close: () => Promise<void>,
) {
  process.on('message', async (question) => process.send?.(await answer(question as Question)))
  process.on('disconnect', () => void close().then(() => process.exit()))
}
