/** What proves that a purchase belongs to a user, and why a call was not attested. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { EventUser } from '../../../api/event_answers.ts'
import { Icon } from '../parts/icons.tsx'

type Proof = InferOutput<typeof EventUser>['proofs'][number]

const PROOFS: Record<Proof, string> = {
  purchase: 'Signed purchase',
  device: 'Attested device',
  server: 'Your backend',
}

export const Proofs = ({ proofs }: { proofs: readonly Proof[] }): JSX.Element => (
  <span class="row proofs">
    {proofs.map((proof) => (
      <span key={proof} class="badge good">
        <Icon name="check" /> {PROOFS[proof]}
      </span>
    ))}
    {proofs.length === 0 && <span class="badge">None</span>}
  </span>
)

const UNATTESTED: Readonly<Record<string, string>> = {
  pending: 'Enrolment not finished',
  unsupported: 'Cannot be attested',
  simulator: 'Simulator',
  'enroll-failed': 'Enrolment failed',
  '': 'Not attested',
}

/** Why a call was not attested, in words; empty without a reason. */
export const unattestedTitle = (reason: string): string => UNATTESTED[reason] ?? reason
