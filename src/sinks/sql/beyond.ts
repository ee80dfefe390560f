/** A number that is greater by up to so much, by chance: a copy of the database that goes on by itself gives other ones. */
export function beyond(number: number, most: number): number {
  return number + 1 + Math.floor(Math.random() * most)
}
