/** A dialog with all signed payloads about a customer. */
import type { JSX } from 'preact'
import { usePagedQuery } from '../paged_queries.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { type EvidenceAnswer, SignedText } from './signed_text.tsx'

export function EvidenceDialog({
  customer,
  onClose,
}: {
  customer: string
  onClose: () => void
}): JSX.Element {
  const path = `/api/v1/customers/${encodeURIComponent(customer)}/evidence`
  const paged = usePagedQuery<EvidenceAnswer>(path, {}, 'cursor')
  const texts = paged.pages.flatMap(({ evidence }) => evidence)
  return (
    <Dialog title="Signed evidence" onClose={onClose} isWide>
      <p class="small quiet">
        Everything that Apple signed about this customer, byte for byte, newest first. All figures of the
        customer are derived from these payloads.
      </p>
      <QueryView result={paged.first} height={420}>
        {() =>
          texts.length === 0 ? (
            <Empty icon="key" title="No signed data">
              <p>Apple has not reported these purchases yet. Only an SDK call names them.</p>
            </Empty>
          ) : (
            <div class="signed-list">
              {texts.map((one, index) => (
                <SignedText key={one.id} signed={one} isOpen={index === 0} />
              ))}
            </div>
          )
        }
      </QueryView>
      <ShowMore {...paged} />
    </Dialog>
  )
}
