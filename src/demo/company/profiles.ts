/** The names and e-mail addresses that the apps send as attributes. The addresses are of a domain that nobody has. */
import type { Person } from '../world/people.ts'
import type { Scalar } from '../world/steps.ts'

const FIRST_NAMES = (
  'Ada Amira Ana Ben Chloé Daniel Elif Emma Farah Greta Hana Hugo Ines Jonas Kofi Lea Liam Lucía Maya ' +
  'Mateo Mina Noah Nora Olga Omar Paula Ravi Sofia Tomás Yuki Zoë'
).split(' ')
const LAST_NAMES = (
  'Abe Alves Bauer Brown Costa Demir Fischer García Haddad Ito Jansen Jones Kaur Kim Larsen Lopez ' +
  'Martin Mensah Moreau Müller Nowak Okafor Park Patel Rossi Silva Smith Sørensen Tanaka Weber'
).split(' ')
/** The fraction of logged-in users whose app sends a name and an e-mail address. */
const NAMED_FRACTION = 0.7

/** The attributes `name` and `email` of a logged-in user; empty for an anonymous one and for some others. */
export function profileOf({ random, login }: Person): Record<string, Scalar> {
  const own = random.fork('profile')
  if (login === null || !login.logged_in || !own.chance(NAMED_FRACTION)) return {}
  const first = own.pick(FIRST_NAMES)
  const last = own.pick(LAST_NAMES)
  const mailbox = `${first}.${last}`
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z.]/g, '')
  return { name: `${first} ${last}`, email: `${mailbox}${own.whole(1, 999)}@example.com` }
}
