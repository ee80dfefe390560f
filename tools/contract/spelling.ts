// The one thing that differs between languages: the case of the letters.

/** `expires_at_ms` and `take-from-bucket` become `expiresAtMs` and `takeFromBucket`. */
export function camel(name: string): string {
  return name.replace(/[-_]+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

export function pascal(name: string): string {
  const spelled = camel(name)
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}
