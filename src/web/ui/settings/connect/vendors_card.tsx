/** The vendor numbers, whose daily reports are fetched. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Card } from '../../parts/card.tsx'
import { useMutation } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { useReauth } from '../../sign_in/reauth.tsx'
import { storeVendors, type Vendors } from './connect_queries.ts'

function Form({ vendors }: { vendors: Vendors }): JSX.Element {
  const withReauth = useReauth()
  const [text, setText] = useState(vendors.vendor_numbers.join(', '))
  const [isStored, setStored] = useState(false)
  const { run, isBusy, problem } = useMutation(async () => {
    const numbers = text.split(',').flatMap((number) => number.trim() || [])
    await withReauth(() => storeVendors(vendors.organization_id, numbers))
    setStored(true)
  })
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        setStored(false)
        run()
      }}
    >
      <p class="small quiet">
        In App Store Connect, open Payments and Financial Reports. The number is at the top left, beside the
        name of the legal entity.
      </p>
      <TextField
        label="Vendor number"
        hint="80012345; several with commas"
        value={text}
        error={problem ?? undefined}
        onInput={setText}
      />
      <div class="row">
        <button type="submit" class="button main" disabled={isBusy}>
          {isBusy ? 'Trying it with Apple' : 'Try and store number'}
        </button>
        {isStored && (
          <span class="badge good" role="status">
            Stored; the import of a year has started
          </span>
        )}
      </div>
    </form>
  )
}

/** `canEnter`: there is a stored App Store Connect API key to try the numbers with. */
export const VendorsCard = ({ vendors, canEnter }: { vendors: Vendors; canEnter: boolean }): JSX.Element => (
  <Card title="Vendor number" foot="Without it, Windfall fetches no daily reports.">
    {canEnter ? (
      <Form vendors={vendors} />
    ) : (
      <p class="small quiet">
        {vendors.source === 'config'
          ? `In the configuration: ${vendors.vendor_numbers.join(', ') || 'none'}. Change it there.`
          : 'Enter the App Store Connect API key first.'}
      </p>
    )}
  </Card>
)
