// The token of a protected server: from the page's address at first, then remembered for this tab only.
const KEY = "paddock.token";

/** The token to show, if there is one; it does not stay in the address bar, where it would be copied with the link. */
export function takeToken(): string | null {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given === null) return recalled();
  rememberToken(given);
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address);
  return given;
}

export function rememberToken(token: string): void {
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // storage may be forbidden: then the token lasts as long as the page
  }
}

function recalled(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}
