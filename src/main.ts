/** argv → command. On a worker thread this file is only the bundle around that thread's own code. */
import { isMainThread } from 'node:worker_threads'
import { runCli } from './cli/cli.ts'

if (isMainThread) await runCli(process.argv.slice(2))
