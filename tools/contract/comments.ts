import type { Comment } from 'luaparse'

/** What a comment on this line says; null where there is none. */
export function commentOn(line: number, comments: readonly Comment[]): string | null {
  return (
    comments
      .find(({ loc }) => loc?.start.line === line)
      ?.value.trim()
      .replaceAll(/\s+/g, ' ') || null
  )
}
