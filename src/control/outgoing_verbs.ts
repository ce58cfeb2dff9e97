/** The control verbs behind `windfall outgoing`: held requests and the sealing key. */
import * as v from 'valibot'
import { COMMAND_LINE } from '../access/audit.ts'
import type { Windfall } from '../app.ts'
import { type Verbs, verb } from './socket.ts'

/** The verbs `outgoing.*`. */
export function outgoingVerbs({ store, audit, outgoing: { held, secrets } }: Windfall): Verbs {
  const status = () => ({ held: held.state(), key: secrets.state() })

  const resume = () =>
    store.commit(() => {
      const wasHeld = held.state() !== null
      held.resume()
      if (wasHeld) audit.note({ ...COMMAND_LINE, action: 'outgoing.resumed' })
      return { was_held: wasHeld }
    })

  const replaceKey = () =>
    store.commit(() => {
      secrets.replaceKey()
      audit.note({ ...COMMAND_LINE, action: 'outgoing.key_replaced' })
      return secrets.state()
    })

  return {
    'outgoing.status': verb(v.object({}), status),
    'outgoing.resume': verb(v.object({}), resume),
    'outgoing.new_key': verb(v.object({}), replaceKey),
  }
}
