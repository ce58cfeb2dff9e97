/** The control verbs behind `windfall outgoing`: held requests and the sealing key. */
import * as v from 'valibot'
import { COMMAND_LINE } from '../access/audit.ts'
import type { Windfall } from '../app.ts'
import { type Verbs, verb } from './socket.ts'

const Resume = v.object({ from_head: v.optional(v.boolean(), false) })

/** The verbs `outgoing.*`. */
export function outgoingVerbs({ store, audit, forwarding, outgoing, accounts, storedKeys }: Windfall): Verbs {
  const { held, secrets } = outgoing
  const status = () => ({ held: held.state(), key: secrets.state() })

  /** With `from_head`, what waits is skipped, because the original has sent it. */
  const resume = ({ from_head }: v.InferOutput<typeof Resume>) =>
    store.commit(() => {
      const wasHeld = held.state() !== null
      held.resume()
      if (wasHeld && from_head) forwarding.endpoints.skipBacklog()
      const detail = from_head ? 'from the head of the feed' : null
      if (wasHeld) audit.note({ ...COMMAND_LINE, action: 'outgoing.resumed', detail })
      store.afterCommit(forwarding.wake)
      return { was_held: wasHeld }
    })

  const replaceKey = () =>
    store.commit(() => {
      secrets.replaceKey()
      // Apple's keys that another key sealed are a finding from now on, and not only from the next start on.
      store.afterCommit(() => accounts.adopt(storedKeys.list()))
      audit.note({ ...COMMAND_LINE, action: 'outgoing.key_replaced' })
      return secrets.state()
    })

  return {
    'outgoing.status': verb(v.object({}), status),
    'outgoing.resume': verb(Resume, resume),
    'outgoing.new_key': verb(v.object({}), replaceKey),
  }
}
