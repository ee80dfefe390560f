// How names are written: the case of the letters, and the separator of words.

/** `expires_at_ms` and `take-from-bucket` become `expiresAtMs` and `takeFromBucket`. */
export function camel(name: string): string {
  return name.replace(/[-_]+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

export function pascal(name: string): string {
  const spelled = camel(name)
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}

/** What is said of a name that is not in lower case with underscores. */
export function notSnake(name: string): string {
  return `${name} is not in lower case with underscores: write ${joined(name, '_')}`
}

/** `memberName` and `member name` become `member-name`, with the given sign between the words. */
export function joined(name: string, sign: '-' | '_'): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .join(sign)
}
