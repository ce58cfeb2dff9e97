/** Separate processes: the load and the server share no event loop and no garbage collector. */
import { type ChildProcess, fork } from 'node:child_process'

export type Child = ReturnType<typeof openChild>

/**
 * Starts `file` of this folder. `request` sends a message and resolves with the result; send one message at a time. It
 * rejects if the process exits first.
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
    request: <Result>(message: object) => sendMessage<Result>(process, file, message),
    close,
  }
}

function sendMessage<Result>(process: ChildProcess, file: string, message: object): Promise<Result> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null) => reject(new Error(`${file} exited with ${code} before it responded`))
    process.once('exit', fail)
    process.once('message', (handle) => {
      process.off('exit', fail)
      resolve(handle as Result)
    })
    process.send(message)
  })
}

/** Runs in the child: calls `handle` for each message. The process exits when the parent disconnects. */
export function serveRequests<Message>(
  handle: (message: Message) => Promise<object>,
  close: () => Promise<void>,
) {
  process.on('message', async (message) => process.send?.(await handle(message as Message)))
  process.on('disconnect', () => void close().then(() => process.exit()))
}
