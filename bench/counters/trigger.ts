import type { Database } from './database.ts'

/** Runs a statement for each row that is inserted, `NEW`. */
export async function countByTrigger(
  { kind, prepare }: Database,
  name: string,
  votes: string,
  statement: string,
): Promise<void> {
  const body = kind === 'MariaDB' ? statement : `BEGIN ${statement}; END`
  await prepare(`CREATE TRIGGER ${name}_counting AFTER INSERT ON ${votes} FOR EACH ROW ${body}`)
}
