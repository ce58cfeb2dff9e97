/** Queries and requests about Apple's keys and apps. */
import type { InferOutput } from 'valibot'
import type { AppleAppsAnswer } from '../../../../api/owner/apple/apps.ts'
import type { AppleKeysAnswer, StoredKeyAnswer } from '../../../../api/owner/apple/keys.ts'
import { write } from '../../http.ts'
import { invalidate, type QueryResult, useQuery } from '../../queries.ts'

export type AppleKeys = InferOutput<typeof AppleKeysAnswer>
export type AppleKey = AppleKeys['keys'][number]
export type KeyKind = AppleKey['kind']
export type Vendors = AppleKeys['vendors'][number]

export const useAppleKeys = (): QueryResult<AppleKeys> =>
  useQuery<AppleKeys>('/api/v1/apple-keys', {}, { interval_ms: 60_000 })

/** The apps of an organization's account, from Apple. `wait` while there is no key to ask with. */
export const useAccountApps = (
  organization_id: string,
  wait: boolean,
): QueryResult<InferOutput<typeof AppleAppsAnswer>> =>
  useQuery('/api/v1/apple-apps', { organization_id }, { wait })

/** A key as it is entered. */
type KeyDraft = { private_key: string; key_id: string; issuer_id: string | null }

/** Has the server try a key and store it. Apps and figures follow, so all queries are invalidated. */
export async function storeKey(kind: KeyKind, organization_id: string, draft: KeyDraft): Promise<void> {
  const body = { organization_id, ...draft }
  await write<InferOutput<typeof StoredKeyAnswer>>('POST', `/api/v1/apple-keys/${kind}`, body)
  await invalidate('/api/v1')
}

/** Deletes a stored key. */
export async function deleteKey(kind: KeyKind, organization_id: string): Promise<void> {
  await write('DELETE', `/api/v1/apple-keys/${kind}?organization_id=${encodeURIComponent(organization_id)}`)
  await invalidate('/api/v1')
}

/** Has the server try vendor numbers and store them. */
export async function storeVendors(organization_id: string, vendor_numbers: string[]): Promise<void> {
  await write('POST', '/api/v1/vendor-numbers', { organization_id, vendor_numbers })
  await invalidate('/api/v1')
}

/** Connects an app. What waits for it is applied. */
export async function addApp(organization_id: string, bundle_id: string): Promise<void> {
  await write('POST', '/api/v1/apps', { organization_id, bundle_id })
  await invalidate('/api/v1')
}
