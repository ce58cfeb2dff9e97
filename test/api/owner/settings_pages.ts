/** Set-up of settings tests: a Windfall with a signed-in owner. */
import { openTestApp, type TestApp, type TestOptions } from '../../helpers.ts'

export type OwnerAnswer = { status: number; body: Record<string, unknown> & { code?: string } }

/** `call` asks as the owner, signed in a moment ago, unless other headers say otherwise. */
export async function openSignedIn(given: TestOptions | TestApp = {}) {
  const app = 'windfall' in given ? given : await openTestApp(given)
  const signedIn = await app.signIn()

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = signedIn,
  ): Promise<OwnerAnswer> {
    const response = await app.request(`/api/v1/${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as OwnerAnswer['body'] }
  }

  const bearer = { authorization: `Bearer ${await app.token()}` }
  const auditEntries = () =>
    app.windfall.audit.list(null, 20).map(({ action, subject }) => ({ action, subject }))
  return { app, call, bearer, auditEntries }
}
