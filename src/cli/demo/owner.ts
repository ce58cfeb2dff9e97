/** The owner of the demo: lets whoever started it see the dashboard with one click. */
import { randomBytes } from 'node:crypto'
import { hashPassword } from '../../access/passwords.ts'
import type { Windfall } from '../../app.ts'
import { print } from '../instance/instance.ts'

/** Gives the demo a password of its own, and prints a link that signs in once without it. It serves this machine alone. */
export async function createDemoOwner({ store, owner }: Windfall, url: string): Promise<void> {
  const password = `demo-${randomBytes(9).toString('base64url')}`
  const phc = await hashPassword(password)
  const { token } = await store.commit(() => {
    owner.setPassword(phc)
    return owner.createLink('sign_in')
  })
  print('\nThe dashboard, by a link that works once:')
  print(`  ${url}/login#${token}`)
  print(`  After that, and in other browsers, with the password ${password}`)
}
