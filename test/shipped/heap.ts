/** A preload of the bundle: on SIGUSR2 it collects garbage and prints the bytes of the heap, as a line of the log. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => {
    // The second collection frees what finalizers of the first one released.
    collect()
    collect()
    const { heapUsed } = process.memoryUsage()
    process.stdout.write(`${JSON.stringify({ message: 'heap', bytes: heapUsed })}\n`)
  })
}
