/** Creates the owner of the demo and prints a link that opens the dashboard. */
import { randomBytes } from 'node:crypto'
import { hashPassword } from '../../access/passwords.ts'
import { DISMISSED, openDismissal } from '../../api/owner/first_steps.ts'
import type { Windfall } from '../../app.ts'
import { print } from '../instance/output.ts'

/**
 * Sets a random password, and prints a link that signs in once without the password. The demo serves this machine
 * only, so the link needs no further protection.
 */
export async function createDemoOwner({ store, owner }: Windfall, url: string): Promise<void> {
  const password = `demo-${randomBytes(9).toString('base64url')}`
  const passwordHash = await hashPassword(password)
  const { token } = await store.commit(() => {
    owner.setPassword(passwordHash)
    openDismissal(store).set(DISMISSED)
    return owner.createLink('sign_in')
  })
  print('\nThe dashboard (this link works once):')
  print(`  ${url}/login#${token}`)
  print(`  After that, or in another browser, sign in with the password ${password}`)
}
