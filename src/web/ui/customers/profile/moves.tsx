/** The link history: which purchase moved between users, when and why. The last move can be undone. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { invalidate } from '../../queries.ts'
import { instant } from '../../words.ts'
import type { Move } from './profile_answer.ts'

/** How the credential of a call is described. */
const CREDENTIALS: Record<Move['to_credential'], string> = {
  none: 'a call without a key',
  publishable: 'the publishable key',
  secret: 'your backend, with the secret key',
  device: 'an attested device',
  owner: 'you, in the dashboard',
}
const nameOf = (id: string | null): string => id ?? 'an erased user'

type MovesProps = { moves: readonly Move[]; shown?: readonly string[] }
/** `shown`: explanations that the page already has. */
export function Moves({ moves, shown = [] }: MovesProps): JSX.Element | null {
  const [undoing, setUndoing] = useState<Move | null>(null)
  if (moves.length === 0) return null
  return (
    <section class="stack-s">
      <h3>Link history</h3>
      <ol class="moves">
        {moves.map((move) => (
          <li key={move.id}>
            <MoveRow move={move} why={shown.includes(move.why ?? '') ? null : move.why} />
            {move.can_undo && (
              <button type="button" class="button" onClick={() => setUndoing(move)}>
                <Icon name="undo" /> Undo
              </button>
            )}
          </li>
        ))}
      </ol>
      {undoing && <Undo move={undoing} onClose={() => setUndoing(null)} />}
    </section>
  )
}

/** One entry of the link history: a move, or a new proof, which does not move the purchase. */
const MoveRow = ({ move, why }: { move: Move; why: string | null }): JSX.Element => {
  const isMoved = move.from_app_user_id !== move.to_app_user_id
  return (
    <div class="small">
      <p>
        {isMoved ? (
          <>
            From <strong>{nameOf(move.from_app_user_id)}</strong> to{' '}
            <strong>{nameOf(move.to_app_user_id)}</strong>
          </>
        ) : (
          <>
            New proof for <strong>{nameOf(move.to_app_user_id)}</strong>
          </>
        )}{' '}
        <span class="quiet">by {CREDENTIALS[move.to_credential]}</span>
      </p>
      <p class="quiet">
        {instant(move.moved_at)}, purchase <code>{move.transaction_id}</code>. {why}
      </p>
    </div>
  )
}

const Undo = ({ move, onClose }: { move: Move; onClose: () => void }): JSX.Element => (
  <Confirm
    title="Undo this move"
    verb="Move back"
    isDanger={false}
    onClose={onClose}
    action={async () => {
      await write('POST', `/api/v1/link-moves/${move.id}/undo`)
      await invalidate('/api/v1/customers', '/api/v1/users')
    }}
  >
    <p>
      Purchase <code>{move.transaction_id}</code> moves back from{' '}
      <strong>{nameOf(move.to_app_user_id)}</strong> to <strong>{nameOf(move.from_app_user_id)}</strong>. This
      list keeps the undo. The next call may move the purchase again.
    </p>
  </Confirm>
)
