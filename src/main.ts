/** The entry point: runs the command line, or on a worker thread the task of that thread. */
import { isMainThread } from 'node:worker_threads'
import { runCli } from './cli/cli.ts'

if (isMainThread) void runCli(process.argv.slice(2))
else void import('./app.ts')
