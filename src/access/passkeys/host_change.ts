/** Passkeys that stopped working because the host of `base_url` changed. */
import type { Store } from '../../store/store.ts'
import { relyingPartyOf } from './relying_party.ts'

/** How many passkeys there are; and what is wrong with those of other hosts than `base_url`’s, null if there are none. */
export function examinePasskeys(
  { prepare }: Pick<Store, 'prepare'>,
  base_url: string,
): { passkeys: number; problem: string | null; remedy: string } {
  const hosts = prepare<[], { host: string; passkeys: number }>(
    'select host, count(*) as passkeys from passkeys group by host order by host',
  ).all()
  const passkeys = hosts.reduce((sum, one) => sum + one.passkeys, 0)
  const { host, problem } = relyingPartyOf(base_url)
  const lost = hosts.filter((one) => problem !== null || one.host !== host)
  const many = lost.reduce((sum, one) => sum + one.passkeys, 0)
  const verb = many === 1 ? '1 passkey was added' : `${many} passkeys were added`
  const places = lost.map((one) => one.host).join(' and ')
  const why = `${verb} at ${places} and cannot sign in at ${base_url}.`
  return { passkeys, problem: lost.length === 0 ? null : why, remedy: REMEDY }
}

const REMEDY =
  'Set base_url to the address at which the passkeys were added; or sign in with the password, and under Settings, Security remove them and add new ones.'
