# cases_gauntlet.sh - reproduce gauntlet on a few points: its list, its table, its file, and other files to compare with.

truth_few="reproduce gauntlet --only few-t1 --n 100 --methods series,uniform --threads 1"

t_gauntlet_list() {
    run reproduce gauntlet --list
    want_code 0; want_no_err; want_out '^few-t2  *few  *T2  *500$'; want_out '^ring-s2s2 '; want_out '-mesh '
    [ "$(lines out)" -gt 30 ] || wrong "$(lines out) lines"
    run reproduce gauntlet --list --json
    want_code 0; want_json out truths name family domain n
}
t_gauntlet_to_its_table() {
    run $truth_few --seeds 2 --out g.jsonl
    want_code 0; want_out '^few-t1  *1  *100 .*\*'; want_out '^few-t1  *3 '; want_out '^geometric mean  *1.000 '
    want_out '^above 1.10, %  *0  *100'; want_out '^of truths  *2  *2'; want_err '4 to fit, 0 of them'
    [ "$(awk 'length > 100' out | wc -l)" = 0 ] || wrong "a line has more than 100 columns"
    [ "$(lines g.jsonl)" = 4 ] || wrong "$(lines g.jsonl) lines, expected 4"
    head -n 1 g.jsonl >first
    want_json first name family domain seed half method options n kl kl_se nll nll_se nise ae log_integral_se seconds \
        chosen tau steps omega encoding status
    cp g.jsonl before
    run $truth_few --seeds 2 --out g.jsonl --json # nothing again
    want_code 0; want_same g.jsonl before; want_err '4 of them done before'
    want_json out experiment half methods regret_mean regret_worst regret_above results
    run $truth_few --seeds 2 --n 50 --out g.jsonl # other points are other fits
    want_code 0; want_err '4 to fit, 0 of them'
    # the truth, its points and the fit can be had by hand; the divergence of the uniform density is known
    run simulate gauntlet:few-t1 --truth-seed 3 --seed 3 --n 100 --out p.npy --truth t.json --json
    want_code 0
    entropy=$(sed 's/.*"entropy": \([^,]*\),.*/\1/' out)
    kl=$(grep '"seed": 3,.*"method": "uniform"' before | sed 's/.*"kl": \([^,]*\),.*/\1/')
    awk -v e="$entropy" -v kl="$kl" 'BEGIN { exit !((log(6.283185307) - e - kl) ^ 2 < 0.02 ^ 2) }' \
        || wrong "KL of the uniform density $kl, entropy $entropy" # 4 standard errors of 40,000 draws are below 0.02
    run fit --domain T1 --data p.npy --out m --quiet --estimator series --seed 3
    run evaluate m --truth t.json --points 131072 --json
    nise=$(sed 's/.*"nise": \([^,]*\),.*/\1/' out)
    grep -q "\"seed\": 3, .*\"nise\": $nise," before || wrong "fit and evaluate give nise $nise"
}
t_gauntlet_halves_and_others() {
    run $truth_few --half develop --out d.jsonl --quiet
    want_code 0; grep -q '"seed": 0, "half": "develop"' d.jsonl || wrong "the seed is not 0"
    sed 's/"kl": [^,]*,/"kl": 0.01,/; s/"kl_se": [^,]*,/"kl_se": 0.001,/' d.jsonl >better.jsonl
    run $truth_few --half develop --out d.jsonl --against better.jsonl
    want_code 0; want_out '^The same over the best of better.jsonl'
    kl=$(grep '"method": "uniform"' d.jsonl | sed 's/.*"kl": \([^,]*\),.*/\1/')
    awk -v kl="$kl" '/better.jsonl/ { late = 1 } late && /^worst/ { exit !(($3 / (100 * kl) - 1) ^ 2 < 1e-4) }' out \
        || wrong "the regret of $kl over 0.01: $(grep '^worst' out)"
}
t_gauntlet_real_data() { # from a folder with one set of all
    mkdir -p data/protein
    "$program" simulate t2 --n 300 --out data/protein/his_chi_T2.npy --quiet
    run reproduce gauntlet --only 'hist*' --data data --methods series,uniform --threads 1 --out r.jsonl
    want_code 0; want_err 'histidine-t4 is left out: data/protein/his_phi'; want_out '^histidine  *1  *2[0-9][0-9] .* 3.6758'
    grep -q '"name": "histidine", "family": "real".*"kl": null, .*"nll": [0-9]' r.jsonl || wrong "no likelihood"
}
t_gauntlet_fails_in_words() {
    run reproduce gauntlet --only few-t1 --n 5 --methods stack,uniform --threads 1 --out f.jsonl
    want_code 0; want_out '^few-t1 .* failed .*\*'; want_out '^1 of 2 fits failed'
    grep -q '"method": "stack".*"exit": [2-7], "reason": "..*", "status": "failed"}' f.jsonl || wrong "no reason: $(cat f.jsonl)"
}
t_gauntlet_refusals() {
    for words in '--only nosuch' '--methods egg' '--methods series,series' '--half third' '--seeds 0' '--seed 2' \
        '--truth t.json' '--domain T2' '--replicates 2' '--roi a' '--out a --against a'; do
        run reproduce gauntlet $words
        want_failure 2
    done
    run reproduce gauntlet --against nowhere.jsonl
    want_failure 5; want_err nowhere.jsonl
    run reproduce table1 --list
    want_failure 2; want_err 'belongs to gauntlet'
    run simulate gauntlet:egg --n 10 --out p.csv
    want_failure 2; want_err egg
}
