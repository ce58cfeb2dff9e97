/** The entry point: runs the command line. On a worker thread this bundle only provides the code of that thread. */
import { isMainThread } from 'node:worker_threads'
import { runCli } from './cli/cli.ts'

if (isMainThread) await runCli(process.argv.slice(2))
