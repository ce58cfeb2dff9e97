/** The command `windfall webhooks`: endpoints that receive events, their log, replays, and a receiver for trying. */
import { defineCommand } from 'citty'
import { addCommand } from './add.ts'
import {
  dismissCommand,
  listCommand,
  pauseCommand,
  removeCommand,
  resumeCommand,
  rotateCommand,
} from './endpoints.ts'
import { listenCommand } from './listen.ts'
import { logCommand } from './log.ts'
import { replayCommand } from './replay.ts'
import { retryCommand } from './retry.ts'
import { testCommand } from './test.ts'

export const webhooksCommand = defineCommand({
  meta: { name: 'webhooks', description: 'Send events to your backend: endpoints, their log, and replays' },
  subCommands: {
    add: addCommand,
    list: listCommand,
    test: testCommand,
    replay: replayCommand,
    dismiss: dismissCommand,
    retry: retryCommand,
    pause: pauseCommand,
    resume: resumeCommand,
    rotate: rotateCommand,
    remove: removeCommand,
    log: logCommand,
    listen: listenCommand,
  },
})
