// The address of a database, from an entry. It may contain a password: never print it.

/** What such a text must be, in words. */
export const DATABASE_URL =
  'must be sqlite:/path/file.db, postgres://user@host/database or mysql://user@host/database'

export interface DatabaseUrl {
  readonly kind: 'sqlite' | 'postgres' | 'mysql'
  readonly url: string
}

const KINDS: Readonly<Record<string, DatabaseUrl['kind']>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mysql',
}

/** Returns the parsed URL, or a text that says what is wrong with it, without repeating the URL. */
export function readDatabaseUrl(text: string): DatabaseUrl | string {
  if (text.startsWith('sqlite:')) {
    return pathOf(text) === '' ? DATABASE_URL : { kind: 'sqlite', url: text }
  }
  const url = URL.canParse(text) ? new URL(text) : null
  const kind = KINDS[url?.protocol ?? '']
  if (url === null || kind === undefined || url.hostname === '') return DATABASE_URL
  // Otherwise it would be taken for the name of the database, and end up in an error message.
  const isCut = /@/.test(url.pathname + url.search + url.hash)
  return isCut || !isDecodable(url)
    ? 'must have / ? # % and @ of a password as %2F %3F %23 %25 and %40'
    : { kind, url: text }
}

/** The path of a file of SQLite: accepts `sqlite:shop.db` and `sqlite:///var/shop.db`, too. */
export function pathOf(url: string): string {
  return url.replace(/^sqlite:(?:\/\/)?/, '')
}

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    decodeURIComponent(username + password + pathname)
    return true
  } catch {
    return false
  }
}
